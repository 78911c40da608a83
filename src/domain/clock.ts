/** Time and randomness are parameters, so that tests can set them. */

/** Milliseconds since the Unix epoch. */
export type Clock = () => number;

/** Cryptographically strong random bytes. */
export type RandomBytes = (count: number) => Buffer;
