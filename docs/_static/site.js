// What the theme leaves without a name for those who do not see it, and buttons that copy code.

/** The code of a block, with that of the blocks above it if it goes on from them. */
function codeOf(block) {
  if (!block.matches(".continued")) return block.querySelector("pre").textContent;
  const all = [...document.querySelectorAll(".bd-article .highlight-python")];
  return all.slice(0, all.indexOf(block) + 1).map((one) => one.querySelector("pre").textContent).join("\n");
}

function addCopyButton(block) {
  const button = document.createElement("button");
  const words = block.matches(".continued") ? "Copy with the code above" : "Copy";
  Object.assign(button, { type: "button", className: "copy", textContent: words });
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(codeOf(block));
      button.textContent = "Copied";
    } catch {
      button.textContent = "The browser does not allow it";
    }
    setTimeout(() => { button.textContent = words; }, 2000);
  });
  block.append(button);
}

document.addEventListener("DOMContentLoaded", () => {
  for (const summary of document.querySelectorAll("summary:has(.toctree-toggle)")) {
    summary.setAttribute("aria-label", "Show or hide the pages below");
  }
  for (const link of document.querySelectorAll(".sphx-glr-thumbcontainer a")) {
    link.setAttribute("aria-label", link.textContent.trim());
  }
  for (const block of document.querySelectorAll(".bd-article :is(.highlight-python, .highlight-bash)")) addCopyButton(block);
  // A wide table scrolls by itself; so it must be reached by the keyboard.
  for (const table of document.querySelectorAll(".bd-article table.table")) {
    if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
  }
});
