/** Prints the settings that are in force, and where each is set. */

import { isSecretSetting, readConfig, readSources, SETTINGS } from '../config/config.ts';
import { maskTokens } from '../domain/token-mask.ts';
import type { CommandIo } from './io.ts';
import { alignRows } from './text.ts';

/** Prints the table even if a start would be refused; then throws the ConfigError that says why. */
export function config({ environment, stdout }: Pick<CommandIo, 'environment' | 'stdout'>): string {
  const { values } = readSources(environment);
  const standard = [...values.keys()].filter((name) => !name.startsWith('SPANDREL_'));
  const rows = [...SETTINGS, ...standard.map((name) => ({ name, fallback: '' }))].map(({ name, fallback }) => {
    const found = values.get(name);
    if (found === undefined) return [name, fallback === '' ? '-' : fallback, 'default'];
    return [name, maskSetting(name, found.text), found.source];
  });
  stdout.write(alignRows([['setting', 'value', 'set by'], ...rows]));
  readConfig(environment);
  return '';
}

const MASK = '****';

/** Of URLs only what may be a secret is masked, so that host and database can be told. */
export function maskSetting(name: string, text: string): string {
  if (text.includes('://')) return maskUrl(text) ?? (isSecretSetting(name) ? MASK : maskTokens(text));
  const isFile = name === 'SPANDREL_DATABASE_URL' && text.startsWith('sqlite:');
  return isSecretSetting(name) && !isFile ? MASK : maskTokens(text);
}

/** Null: the text is not a URL, or one in whose password a character ends the host, and may hold a password anywhere. */
function maskUrl(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || !/^(https?|postgres(ql)?|clickhouses?):$/.test(url.protocol)) return null;
  if (url.hash !== '' || /@/.test(url.pathname + url.search)) return null;
  if (url.password !== '') url.password = MASK;
  for (const name of [...url.searchParams.keys()]) {
    if (/pass|key|secret|token|sig/i.test(name)) url.searchParams.set(name, MASK);
  }
  return maskTokens(url.href);
}
