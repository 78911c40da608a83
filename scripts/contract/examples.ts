/**
 * An example of every rpc: what is sent to its main route, and what comes back. They are in proto/examples/<stem>.json; a
 * test checks them against the contract. The members of a request stand together, whether they are sent in the path, in
 * the query or in the body.
 */

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { DescMethod } from '@bufbuild/protobuf';
import type { Json } from './kinds.ts';
import type { Operation } from './operations.ts';

export const EXAMPLES = new URL('../../proto/examples/', import.meta.url);

export type Members = { readonly [name: string]: Json };
export type Example = { readonly request: Members; readonly response: Json };

export type SentExample = {
  readonly verb: string;
  /** With its query. */
  readonly path: string;
  /** Null for a route that takes none. */
  readonly body: Members | null;
};

const files = new Map<string, { readonly [rpc: string]: Example }>();

export function readExamples(stem: string): { readonly [rpc: string]: Example } {
  const examples = files.get(stem) ?? JSON.parse(readFileSync(new URL(`${stem}.json`, EXAMPLES), 'utf8'));
  files.set(stem, examples);
  return examples;
}

/** Throws where there is none. */
export function exampleOf({ name, parent }: DescMethod): Example {
  const stem = basename(parent.file.name);
  const example = readExamples(stem)[name];
  if (example === undefined) throw new Error(`${name} has no example: write one in proto/examples/${stem}.json`);
  return example;
}

/** The example as it is sent to the main route. */
export function sentExample({ method, routes: [main], takesBody }: Operation): SentExample {
  const { verb = '', template = '' } = main ?? {};
  const { request } = exampleOf(method);
  const inPath = new Set([...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name));
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(request[name] ?? '')));
  const others = Object.entries(request).filter(([name]) => !inPath.has(name));
  if (takesBody) return { verb, path, body: Object.fromEntries(others) };
  const query = new URLSearchParams(
    others.map(([name, value]): [string, string] => [name, queryText(value)]),
  ).toString();
  return { verb, path: query === '' ? path : `${path}?${query}`, body: null };
}

/** Lists are separated by commas; an object is JSON. */
function queryText(value: Json): string {
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const LINE_CHARACTERS_MAX = 110;

/** JSON in lines; a value that fits into one line stays in it. */
export function printJson(value: Json, indent = 0, before = 0): string {
  const line = inOneLine(value);
  if (line.length + indent + before <= LINE_CHARACTERS_MAX || typeof value !== 'object' || value === null) return line;
  const margin = ' '.repeat(indent + 2);
  if (Array.isArray(value)) {
    return `[\n${value.map((item) => margin + printJson(item, indent + 2)).join(',\n')}\n${' '.repeat(indent)}]`;
  }
  const members = Object.entries(value).map(([name, member]) => {
    const begin = `${JSON.stringify(name)}: `;
    return margin + begin + printJson(member, indent + 2, begin.length);
  });
  return `{\n${members.join(',\n')}\n${' '.repeat(indent)}}`;
}

function inOneLine(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(inOneLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${inOneLine(member)}`);
  return `{${members.join(', ')}}`;
}
