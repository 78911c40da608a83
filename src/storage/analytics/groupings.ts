/** How the hourly sums are grouped; see hour-changes.ts. */

export const GROUPINGS = { traces: 0, models: 1, withoutModel: 2 } as const;
