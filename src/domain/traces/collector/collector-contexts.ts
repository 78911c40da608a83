/** The documents a retrieval step found. */

import { hash } from 'node:crypto';
import type { LosslessJson } from '../../../json/lossless-json.ts';
import { type ContextDraft, type DraftList, isUnreadable, type Sent } from './collector-draft.ts';
import { countGrown, type Reading, readFreeJson, refuse } from './collector-reading.ts';

/** Compact JSON text of [{"document_id","chunk_id","content"}]; null when there is none. */
export function readContexts(sent: Sent<DraftList<ContextDraft>>, reading: Reading): string | null {
  if (sent === undefined) return null;
  if (isUnreadable(sent)) return refuse(reading, sent.path, sent.reason);
  if (sent.length === 0 || !countGrown(sent.length, 'contexts', reading)) return null;
  const texts: string[] = [];
  for (let index = 0; index < sent.length && reading.problem === null; index += 1) {
    texts.push(readContext(sent.at(index), `contexts[${index}]`, reading));
  }
  return `[${texts.join(',')}]`;
}

function readContext(sent: Sent<ContextDraft>, field: string, reading: Reading): string {
  if (typeof sent === 'string') {
    // Equal texts get the same document id.
    const documentId = JSON.stringify(hash('md5', sent, 'hex'));
    return contextText(documentId, 'null', readFreeJson(sent, field, reading) ?? '""');
  }
  if (sent === undefined || isUnreadable(sent)) {
    refuse(reading, sent?.path ?? field, sent?.reason ?? 'is required');
    return '';
  }
  const documentId = readFreeJson(sent.documentId, `${field}.document_id`, reading) ?? 'null';
  const chunkId = readFreeJson(sent.chunkId, `${field}.chunk_id`, reading) ?? 'null';
  return contextText(documentId, chunkId, readContent(sent.content, `${field}.content`, reading));
}

function contextText(documentId: string, chunkId: string, content: string): string {
  return `{"document_id":${documentId},"chunk_id":${chunkId},"content":${content}}`;
}

function readContent(sent: Sent<LosslessJson>, field: string, reading: Reading): string {
  if (sent === undefined) refuse(reading, field, 'is required');
  const text = readFreeJson(sent, field, reading) ?? '""';
  return typeof sent === 'string' ? text : JSON.stringify(text);
}
