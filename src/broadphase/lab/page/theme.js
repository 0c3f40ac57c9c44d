// Light or dark: as the system says, until the user says otherwise.

export function listenToTheme(changed) {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  const apply = () => {
    root.dataset.theme = chosen ?? (system.matches ? "dark" : "light");
    changed();
  };
  system.addEventListener("change", apply);
  document.getElementById("theme").addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    apply();
  });
  root.dataset.theme = system.matches ? "dark" : "light";
}
