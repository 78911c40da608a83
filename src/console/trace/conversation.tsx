/** Messages as people read them. Pictures and files are named, never fetched. */

import { Fragment } from 'react';
import { joined } from '../design/button.tsx';
import { nameControls } from '../design/format.ts';
import styles from './detail.module.css';
import { JsonView } from './json-view.tsx';
import { LongText } from './long-text.tsx';

type Part = { readonly kind: 'text' | 'json'; readonly text: string; readonly title?: string };
export type Message = { readonly role: string; readonly parts: readonly Part[] };

const MESSAGES_MAX = 500;

/** Null where it is no list of messages. */
export function readMessages(json: string): readonly Message[] | null {
  const known: unknown = JSON.parse(json);
  if (!Array.isArray(known) || !known.every(isRecord)) return null;
  return known.map((message) => ({ role: textOf(message.role) ?? 'message', parts: partsOf(message) }));
}

export function Conversation({ messages }: { readonly messages: readonly Message[] }) {
  return (
    <ol className={styles.conversation}>
      {messages.slice(0, MESSAGES_MAX).map((message, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: messages have no names, and their order never changes.
        <li key={index} className={joined(styles.bubble, message.role === 'assistant' && styles.assistant)}>
          <span className={styles.role}>{nameControls(message.role)}</span>
          {message.parts.map((part, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same holds for the parts of a message.
            <Fragment key={at}>
              {part.title && <span className={styles.note}>{nameControls(part.title)}</span>}
              {part.kind === 'text' ? (
                <Said text={part.text} />
              ) : (
                <JsonView json={part.text} label={part.title ?? 'part'} />
              )}
            </Fragment>
          ))}
        </li>
      ))}
      {messages.length > MESSAGES_MAX && <li>{messages.length - MESSAGES_MAX} more messages are not shown.</li>}
    </ol>
  );
}

const SHORT_CHARACTERS = 8_000;

function Said({ text }: { readonly text: string }) {
  if (text.length > SHORT_CHARACTERS) return <LongText text={text} />;
  return (
    <p className={styles.said} dir="auto">
      {nameControls(text)}
    </p>
  );
}

function partsOf(message: Record<string, unknown>): Part[] {
  const { content, tool_calls: calls, function_call: call } = message;
  const parts = Array.isArray(content) ? content.flatMap(partOf) : partOf(content);
  const called = [...(Array.isArray(calls) ? calls : []), ...(call == null ? [] : [call])];
  return [...parts, ...called.map(callOf)];
}

function partOf(content: unknown): Part[] {
  if (content == null || content === '') return [];
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  if (isRecord(content) && typeof content.text === 'string') return [{ kind: 'text', text: content.text }];
  const title = isRecord(content) ? textOf(content.type) : null;
  return [{ kind: 'json', text: JSON.stringify(content), ...(title === null ? {} : { title }) }];
}

function callOf(call: unknown): Part {
  const named = isRecord(call) && isRecord(call.function) ? call.function : call;
  if (!isRecord(named)) return { kind: 'json', text: JSON.stringify(call) };
  const given = named.arguments ?? named.args ?? named.input ?? null;
  const text = typeof given === 'string' && isJson(given) ? given : JSON.stringify(given);
  return { kind: 'json', title: `calls ${textOf(named.name) ?? 'a tool'}`, text };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
