/** Why this server does not run some types of evaluators. */

import type { CatalogueEntry, RunKind } from '../evaluator-catalogue.ts';

const REASONS: { readonly [K in RunKind]: string | null } = {
  in_process: null,
  judge: null,
  local_model: 'needs a local detection model',
  cloud: 'needs a cloud service',
  embeddings: 'needs an embeddings model',
  not_implemented: 'not implemented in this version',
};

/** Null for a type that can be run, wherever its language model is. */
export function unavailableReason({ run }: CatalogueEntry): string | null {
  return REASONS[run];
}
