// Light or dark: as the page around says, or as the system says, until the user says otherwise.

export function listenToTheme(changed) {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const around = rootAround();
  let chosen = null;
  const wanted = () => chosen ?? (around?.dataset.theme || (system.matches ? "dark" : "light"));
  const apply = () => {
    root.dataset.theme = wanted();
    changed();
  };
  system.addEventListener("change", apply);
  if (around) new MutationObserver(apply).observe(around, { attributeFilter: ["data-theme"] });
  document.getElementById("theme").addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    apply();
  });
  root.dataset.theme = wanted();
}

/** The root of the page that embeds this one, if it is of the same site. */
function rootAround() {
  if (parent === window) return null;
  try {
    return parent.document.documentElement;
  } catch {
    return null; // of another site
  }
}
