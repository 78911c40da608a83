/** Time and chance come in from outside, so that rules can be tested at any instant. */

/** Milliseconds since the Unix epoch. */
export type Clock = () => number;

/** Cryptographically strong random bytes. */
export type RandomBytes = (count: number) => Buffer;
