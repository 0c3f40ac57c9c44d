// What lies over something else: controls, words and pictures, none of which contains the other.
() => {
  const kinds = "button, select, input, output, h1, h2, h3, canvas, p, pre, img, iframe, summary, label";
  const elsewhere = ".visually-hidden, .skip, dialog, details:not([open]) > :not(summary), button.copy, .sphx-glr-thumbcontainer p, .turn, .bd-header, [class*=headerlink]";
  const isSeen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !element.closest(elsewhere);
  const all = [...document.querySelectorAll(kinds)].filter(isSeen);
  const boxes = all.map((element) => element.getBoundingClientRect());
  const found = [];
  all.forEach((one, i) => all.slice(i + 1).forEach((other, k) => {
    const [a, b] = [boxes[i], boxes[i + 1 + k]];
    if (one.contains(other) || other.contains(one) || !a.width || !b.width) return;
    const isOver = a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
    if (isOver) found.push(`${one.outerHTML.slice(0, 60)} / ${other.outerHTML.slice(0, 60)}`);
  }));
  return found;
}
