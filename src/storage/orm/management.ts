/** Every management verb, ready to be called by name: the caller may sit in another thread. */

import type { EntityManager } from '@mikro-orm/core';
import type { Evaluator } from '../../domain/evaluator.ts';
import type { EvaluatorStore, InstallationStore, KeyStore, StoredProjectSettings } from '../../domain/store.ts';
import { AuditEntry } from './audit.ts';
import { EvaluatorRow, findEvaluator, insertEvaluator } from './evaluators.ts';
import { bootstrap, Installation } from './installation.ts';
import { ApiKey, ApiKeyBinding, insertApiKey } from './keys.ts';
import { Member, Organization, Project, RoleBinding, Team } from './organization.ts';
import { type UpdateProjectSettings, updateProjectSettings } from './projects.ts';

export type Management = {
  bootstrap: InstallationStore['bootstrap'];
  insertApiKey: KeyStore['insertApiKey'];
  insertEvaluator: EvaluatorStore['insert'];
  findEvaluator: EvaluatorStore['find'];
  updateProjectSettings(update: UpdateProjectSettings): Promise<StoredProjectSettings | null>;
};

export const ENTITIES = [
  Installation,
  Organization,
  Team,
  Project,
  Member,
  RoleBinding,
  AuditEntry,
  ApiKey,
  ApiKeyBinding,
  EvaluatorRow,
];

/** `fork` answers an entity manager without memory: a remembered row may be out of date. */
export function createManagement(fork: () => EntityManager): Management {
  return {
    bootstrap: (plan) => bootstrap(fork(), plan),
    insertApiKey: (key) => insertApiKey(fork(), key),
    insertEvaluator: (evaluator: Evaluator, liveMax) => insertEvaluator(fork(), evaluator, liveMax),
    findEvaluator: (projectId, idOrSlug) => findEvaluator(fork(), projectId, idOrSlug),
    updateProjectSettings: (update) => updateProjectSettings(fork(), update),
  };
}
