/** Finds what is to be priced anew. */

import type { RepricingStore } from '../../domain/pricing/repricing.ts';
import type { Asking } from '../questions.ts';

export function createRepricingReader({
  questions: { pricing },
  ask,
}: Asking): Pick<RepricingStore, 'projects' | 'spans'> {
  return {
    projects: () => ask(pricing.listRepricedProjects, {}),
    spans: (page) => ask(pricing.listPricedSpans, page),
  };
}
