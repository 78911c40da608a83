/** The documents a retrieval step found. */

import { hash } from 'node:crypto';
import { isAbsent, type Reading, readArray, readFreeJson, refuse } from './collector-reading.ts';
import { isObject, scalarText } from './free-json.ts';
import type { LosslessJson } from './lossless-json.ts';

/** Compact JSON text of [{"document_id","chunk_id","content"}]; null when there is none. */
export function readContexts(value: LosslessJson | undefined, reading: Reading): string | null {
  const items = readArray(value, 'contexts', reading);
  if (items === null || items.length === 0) return null;
  const texts: string[] = [];
  for (let index = 0; index < items.length && reading.problem === null; index += 1) {
    texts.push(readContext(items[index], `contexts[${index}]`, reading));
  }
  return `[${texts.join(',')}]`;
}

function readContext(item: LosslessJson | undefined, field: string, reading: Reading): string {
  if (typeof item === 'string') {
    // The same text is the same document, whoever sends it.
    const documentId = JSON.stringify(hash('md5', item, 'hex'));
    return contextText(documentId, 'null', readFreeJson(item, field, reading) ?? '""');
  }
  if (!isObject(item)) {
    refuse(reading, field, 'must be a string or an object');
    return '';
  }
  const documentId = readContextId(item.document_id, `${field}.document_id`, reading);
  const chunkId = readContextId(item.chunk_id, `${field}.chunk_id`, reading);
  return contextText(documentId, chunkId, readContent(item.content, `${field}.content`, reading));
}

function contextText(documentId: string, chunkId: string, content: string): string {
  return `{"document_id":${documentId},"chunk_id":${chunkId},"content":${content}}`;
}

function readContextId(value: LosslessJson | undefined, field: string, reading: Reading): string {
  if (isAbsent(value)) return 'null';
  const number = typeof value === 'boolean' ? null : scalarText(value);
  if (number !== null) return JSON.stringify(number);
  if (typeof value !== 'string') refuse(reading, field, 'must be a string or a number');
  return readFreeJson(value, field, reading) ?? 'null';
}

function readContent(value: LosslessJson | undefined, field: string, reading: Reading): string {
  if (isAbsent(value)) {
    refuse(reading, field, 'is required');
    return '""';
  }
  const text = readFreeJson(value, field, reading) ?? '""';
  return typeof value === 'string' ? text : JSON.stringify(text);
}
