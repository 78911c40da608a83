/** The sealed API keys of model providers. */

import type { RandomBytes } from '../clock.ts';
import { type EncryptionKeys, openFor, sealFor } from '../secrets.ts';
import type { ModelProviderRecord } from './model-provider.ts';

const HINT_CHARACTERS = 4;
/** The hint of a shorter key would tell too much of it. */
const HINTED_CHARACTERS_MIN = 12;

export type ProviderKeys = ReturnType<typeof createProviderKeys>;

export function createProviderKeys(deps: { readonly encryptionKeys: EncryptionKeys; readonly random: RandomBytes }) {
  const bindingOf = (providerId: string) => ({
    keys: deps.encryptionKeys,
    belongsTo: `model_providers/${providerId}/api_key`,
  });
  /** Of records that are kept in memory, because a gateway opens them for every request. */
  const opened = new WeakMap<object, string>();
  return {
    /** The columns of a key; null: the provider has none. */
    seal(providerId: string, apiKey: string | null): Pick<ModelProviderRecord, 'apiKey' | 'keyHint'> {
      if (apiKey === null) return { apiKey: null, keyHint: null };
      const keyHint = apiKey.length < HINTED_CHARACTERS_MIN ? null : apiKey.slice(-HINT_CHARACTERS);
      return { apiKey: sealFor(bindingOf(providerId), Buffer.from(apiKey), deps.random), keyHint };
    },
    /** Throws for a key that was sealed for another provider, or with another secret of the installation. */
    open(provider: Pick<ModelProviderRecord, 'id' | 'apiKey'>): string | null {
      const { id, apiKey } = provider;
      if (apiKey === null) return null;
      const known = opened.get(provider);
      if (known !== undefined) return known;
      const key = openFor(bindingOf(id), apiKey).toString('utf8');
      opened.set(provider, key);
      return key;
    },
  };
}
