// Sharing a link, a picture or the Python code; and loading a file.

import { colour, milliseconds, named, several } from "./palette.js";
import { toQuery } from "./state.js";

const HEAD = 56;
const GAP = 16;

const find = (id) => document.getElementById(id);
const say = (text) => {
  find("shared").textContent = text;
};

async function copy(text, done) {
  try {
    await navigator.clipboard.writeText(text);
    say(done);
  } catch {
    say("The browser does not allow copying; select and copy by hand.");
  }
}

export function listenToShare(page) {
  find("copy-link").addEventListener("click", () => {
    const link = location.origin + location.pathname + toQuery(page.state);
    history.replaceState(null, "", link);
    copy(link, "The link was copied.");
  });
  find("copy-code").addEventListener("click", () => copy(find("code").textContent, "The code was copied."));
  find("close-code").addEventListener("click", () => find("code-dialog").close());
  find("file").addEventListener("change", () => upload(page));
}

async function upload(page) {
  const file = find("file").files[0];
  const note = find("file-note");
  if (!file) return;
  // An error is styled as one, and the field must not name a file that is not shown.
  const tell = (text, wrong = false) => {
    note.textContent = text;
    note.classList.toggle("wrong", wrong);
    find("file").ariaInvalid = String(wrong);
    if (wrong) find("file").value = "";
  };
  if (file.size > page.hello.largest_file) {
    tell(`${file.name} is larger than ${page.hello.largest_file >> 20} MB. The scene is unchanged.`, true);
    return;
  }
  tell(`reading ${file.name} …`);
  try {
    const answer = await fetch(`upload?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
    const said = await answer.json();
    if (!answer.ok) throw new Error(said.error);
    tell(`${said.name}: ${several(said.count, "box", "boxes")}. ${said.note}`);
    page.change({ scene: page.hello.file, file: said.token });
  } catch (error) {
    tell(`${error.message}. The scene is unchanged.`.replace("..", "."), true);
  }
}

/** All lanes in one picture, each with its method and its numbers. */
export function savePicture(page) {
  const sources = page.lanes.map((lane) => [lane.canvas, ...(lane.detail.hidden ? [] : [lane.detail])]);
  const width = sources.reduce((sum, [scene]) => sum + scene.width + GAP, GAP);
  const height = HEAD + GAP + Math.max(...sources.map((parts) => parts.reduce((sum, part) => sum + part.height + GAP, 0)));
  const picture = document.createElement("canvas");
  picture.width = width;
  picture.height = height;
  const context = picture.getContext("2d");
  context.fillStyle = colour("panel");
  context.fillRect(0, 0, width, height);
  let left = GAP;
  sources.forEach((parts, number) => {
    context.fillStyle = colour("ink");
    context.font = "600 18px system-ui, sans-serif";
    context.fillText(named(page.state.methods[number]), left, 24);
    context.font = "14px system-ui, sans-serif";
    const { tests, overlaps } = page.lanes[number].numbers;
    context.fillText(`${tests.textContent} tests, ${overlaps.textContent} overlaps, ${milliseconds(page.lanes[number].seconds)}`, left, 46);
    let top = HEAD;
    for (const part of parts) {
      context.drawImage(part, left, top);
      top += part.height + GAP;
    }
    left += parts[0].width + GAP;
  });
  picture.toBlob((blob) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `broadphase-${page.state.scene}-frame-${page.frame?.frame ?? 0}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    say("The picture was saved.");
  });
}
