/** Before whoever asks analytics is told that nothing came of it. */
export const ANSWER_MAX_MS = 25_000;
