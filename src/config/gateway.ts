/** The settings of the gateway: the beginning of virtual keys, and the private destinations of model providers. */

import type { ConfigReader } from './reader.ts';
import { readAllowList } from './webhooks.ts';

const PREFIX_PATTERN = /^[a-z0-9][a-z0-9-]{0,14}-$/;

export function readGateway(reader: ConfigReader, keyPrefixes: readonly string[]) {
  return {
    /** The beginning of the secrets of virtual keys. */
    virtualKeyPrefix: readPrefix(reader, keyPrefixes),
    /** Private destinations that are allowed. */
    allow: readAllowList(reader, 'SPANDREL_GATEWAY_ALLOW'),
  };
}

function readPrefix(reader: ConfigReader, keyPrefixes: readonly string[]): string {
  const name = 'SPANDREL_VIRTUAL_KEY_PREFIX';
  const prefix = reader.text(name) ?? 'vk-lw-';
  if (!PREFIX_PATTERN.test(prefix)) {
    reader.refuse(`${name} must be a lower-case prefix of 2 to 16 characters that ends in a hyphen`);
  } else if (keyPrefixes.includes(prefix)) {
    reader.refuse(`${name} must differ from the prefixes of SPANDREL_KEY_PREFIX`);
  }
  return prefix;
}
