/** The sealed API keys of model providers. */

import type { RandomBytes } from '../clock.ts';
import { openFor, sealFor } from '../secrets.ts';
import type { ModelProviderRecord } from './model-provider.ts';

const HINT_CHARACTERS = 4;
/** The hint of a shorter key would tell too much of it. */
const HINTED_CHARACTERS_MIN = 12;

export type ProviderKeys = ReturnType<typeof createProviderKeys>;

export function createProviderKeys(deps: { readonly encryptionKey: Buffer; readonly random: RandomBytes }) {
  const bindingOf = (providerId: string) => ({
    key: deps.encryptionKey,
    belongsTo: `model_providers/${providerId}/api_key`,
  });
  return {
    /** The columns of a key; null: the provider has none. */
    seal(providerId: string, apiKey: string | null): Pick<ModelProviderRecord, 'apiKey' | 'keyHint'> {
      if (apiKey === null) return { apiKey: null, keyHint: null };
      const keyHint = apiKey.length < HINTED_CHARACTERS_MIN ? null : apiKey.slice(-HINT_CHARACTERS);
      return { apiKey: sealFor(bindingOf(providerId), Buffer.from(apiKey), deps.random), keyHint };
    },
    /** Throws for a key that was sealed for another provider, or with another secret of the installation. */
    open: ({ id, apiKey }: Pick<ModelProviderRecord, 'id' | 'apiKey'>): string | null =>
      apiKey === null ? null : openFor(bindingOf(id), apiKey).toString('utf8'),
  };
}
