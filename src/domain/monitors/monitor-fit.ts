/** Judges what a monitor says together with the evaluator it is to run. */

import type { CatalogueEntry } from '../evaluator-catalogue.ts';
import { judgeSettingsAt } from '../evaluator-settings.ts';
import type { Reason } from '../fault.ts';
import type { LosslessObject } from '../lossless-json.ts';
import { choiceReason } from '../reasons.ts';
import type { Mappings } from './monitor.ts';

/** Every mapping must be of a field that the evaluator reads, and known settings of their shapes. */
export function fitProblems(
  { requiredFields, optionalFields, settings }: CatalogueEntry,
  { mappings, parameters }: { readonly mappings: Mappings; readonly parameters: LosslessObject },
): readonly Reason[] {
  const found: Reason[] = [];
  const fields = [...requiredFields, ...optionalFields];
  for (const name of Object.keys(mappings)) {
    if (!fields.includes(name)) found.push(choiceReason('mappings', fields, name));
  }
  judgeSettingsAt('parameters', { settings, sent: parameters, found });
  return found;
}
