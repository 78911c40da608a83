/** Reads one setting from the environment, within bounds, and reports its problems. */

import { SETTINGS } from './settings.ts';

/** `refuse` records a problem, with which the server will not start; reading continues, to collect further problems. */
export type ConfigReader = {
  /** Without white space around it. Null when it is unset or empty. */
  readonly text: (name: string) => string | null;
  readonly refuse: (problem: string) => void;
};

/** An unset setting has its fallback in the table of settings. */
export function readInteger(reader: ConfigReader, name: string, bounds: { min: number; max: number }): number {
  const fallback = Number(fallbackOf(name));
  const text = reader.text(name);
  if (text === null) return fallback;
  const value = Number(text);
  if (/^[0-9]{1,16}$/.test(text) && value >= bounds.min && value <= bounds.max) return value;
  reader.refuse(`${name} must be a whole number from ${bounds.min} to ${bounds.max}`);
  return fallback;
}

export function readChoice(reader: ConfigReader, name: string, choices: readonly string[]): string {
  const text = reader.text(name) ?? fallbackOf(name);
  if (!choices.includes(text)) reader.refuse(`${name} must be one of ${choices.join(', ')}`);
  return text;
}

/** The URL as it was written; null when it is unset. */
export function readHttpUrl(reader: ConfigReader, name: string): string | null {
  const text = reader.text(name);
  if (text === null) return null;
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  reader.refuse(`${name} must be an http or https URL`);
  return null;
}

function fallbackOf(name: string): string {
  return SETTINGS.find((setting) => setting.name === name)?.fallback ?? '';
}
