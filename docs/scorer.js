// The order of what the search finds: words that are explained, then whole public names, then guides, then members of classes, then lists of everything.
const GUIDES = /^(tutorials|how-to|explanation|recipes)\/(?!index)|^(beyond|choosing|dungeon|gpu|how-it-is-fast|platformers|points|shipping|tour|worlds)$/;
var Scorer = {
  score: ([page, title, , , score, , kind]) => {
    if (page === "words") return score + (kind === "index" ? 40 : -10);
    if (kind === "object" && /^broadphase\.\w+$/.test(title)) return score + 20;
    if (GUIDES.test(page)) return score + 15;
    if (page === "changes" || page === "results") return score - 10;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
