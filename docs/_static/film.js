// The film of the landing page: balls as the library found them when the site was built, drawn in the colours of the theme.

const canvas = document.querySelector("canvas.film");
const again = document.createElement("button");
Object.assign(again, { type: "button", className: "film", textContent: "Play again" });
canvas.after(again);
const { size: [wide, high], rate, radii, frames } = await (await fetch(canvas.dataset.film)).json();

function draw({ places, touching }) {
  const colours = getComputedStyle(canvas);
  const context = canvas.getContext("2d");
  context.setTransform(canvas.width / wide, 0, 0, canvas.height / high, 0, 0);
  context.clearRect(0, 0, wide, high);
  const isMet = new Set(touching);
  radii.forEach((radius, ball) => {
    context.fillStyle = colours.getPropertyValue(isMet.has(ball) ? "--orange" : "--blue");
    context.beginPath();
    context.arc(places[2 * ball], places[2 * ball + 1], radius, 0, 2 * Math.PI);
    context.fill();
  });
}

let shown = frames.at(-1);
function play() {
  const begin = performance.now();
  const next = (now) => {
    const frame = Math.min(Math.max(Math.floor(((now - begin) / 1000) * rate), 0), frames.length - 1);
    draw(shown = frames[frame]);
    again.disabled = frame + 1 < frames.length;
    if (again.disabled) requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}
again.addEventListener("click", play);
new MutationObserver(() => draw(shown)).observe(document.documentElement, { attributeFilter: ["data-theme"] });
if (matchMedia("(prefers-reduced-motion: reduce)").matches) draw(shown);
else play();
