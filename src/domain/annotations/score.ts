/** The scores that annotations give. */

/** By the id of the definition. */
export type Scores = { readonly [scoreId: string]: Score };
export type Score = { readonly value: ScoreValue; readonly reason?: string };
export type ScoreValue = string | number | boolean;

/** What filters test of an annotation: its scores, each with the name of its definition. */
export type AnnotationFacts = {
  readonly scores: readonly { readonly id: string; readonly name: string | null; readonly value: ScoreValue }[];
};
