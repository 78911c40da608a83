/** For whom a search runs, and when. */

import type { Project } from '../../caller.ts';

export type SearchCall = {
  readonly project: Project;
  readonly nowMs: number;
  /** Counts bytes of the answer before they are sent; throws the unavailable Fault without room. */
  readonly countResponseBytes: (bytes: number) => void;
  /** Approximate limit of the answer; RESPONSE_MAX_BYTES by default. */
  readonly maxBytes?: number;
};
