/**
 * The secrets of virtual keys: a prefix and 26 characters of Crockford's base 32. These hold 128 random bits and 2 bits of
 * a checksum, so that most mistyped secrets are refused without a look into the store.
 */

import { crc32 } from 'node:zlib';
import type { RandomBytes } from '../clock.ts';
import { hashSecret } from '../secrets.ts';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const CHARACTERS = 26;
const BITS_PER_CHARACTER = 5n;
const RANDOM_BYTES = 16;
const CHECKSUM_BITS = 2n;
const SHOWN_CHARACTERS = 4;
const SHAPE = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/** A new secret in the forms in which it is answered and stored. */
export type MintedSecret = { readonly secret: string; readonly secretHash: Buffer; readonly displayPrefix: string };

export function mintVirtualKeySecret(
  prefix: string,
  { pepper, random }: { readonly pepper: Buffer; readonly random: RandomBytes },
): MintedSecret {
  const drawn = random(RANDOM_BYTES);
  const value = (BigInt(`0x${drawn.toString('hex')}`) << CHECKSUM_BITS) | checksumOf(drawn);
  const secret = prefix + toCharacters(value);
  return {
    secret,
    secretHash: hashSecret(pepper, secret),
    displayPrefix: secret.slice(0, prefix.length + SHOWN_CHARACTERS),
  };
}

/** Whether the text has the shape of a secret with this prefix, whatever its checksum. */
export function isVirtualKeyShape(text: string, prefix: string): boolean {
  return text.startsWith(prefix) && SHAPE.test(text.slice(prefix.length));
}

/** Whether the text can be a secret that this server has minted. */
export function hasSecretChecksum(text: string, prefix: string): boolean {
  if (!isVirtualKeyShape(text, prefix)) return false;
  const value = fromCharacters(text.slice(prefix.length));
  const drawn = Buffer.from((value >> CHECKSUM_BITS).toString(16).padStart(2 * RANDOM_BYTES, '0'), 'hex');
  return drawn.length === RANDOM_BYTES && (value & mask()) === checksumOf(drawn);
}

function checksumOf(drawn: Buffer): bigint {
  return BigInt(crc32(drawn)) & mask();
}

function mask(): bigint {
  return (1n << CHECKSUM_BITS) - 1n;
}

/** The most significant first. */
function toCharacters(value: bigint): string {
  let characters = '';
  for (let rest = value, count = 0; count < CHARACTERS; count += 1, rest >>= BITS_PER_CHARACTER) {
    characters = ALPHABET.charAt(Number(rest & 31n)) + characters;
  }
  return characters;
}

function fromCharacters(characters: string): bigint {
  let value = 0n;
  for (const character of characters) value = (value << BITS_PER_CHARACTER) | BigInt(ALPHABET.indexOf(character));
  return value;
}
