// A server that takes a request and never answers would let a page wait for ever.

const LONGEST = 20_000; // milliseconds

/** The same promise, or an error if it is not kept in time. */
export const answered = (promise) => Promise.race([
  promise,
  new Promise((_, fail) => { setTimeout(() => fail(new Error(`no answer within ${LONGEST / 1000} seconds`)), LONGEST); }),
]);
