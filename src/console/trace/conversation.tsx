/** Shows messages. Pictures and files are named, never fetched. */

import { Fragment } from 'react';
import { joined } from '../design/button.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import styles from './detail.module.css';
import { JsonView } from './json-view.tsx';
import { LongText } from './long-text.tsx';
import type { Message } from './messages.ts';

const MESSAGES_MAX = 500;

export function Conversation({ messages }: { readonly messages: readonly Message[] }) {
  return (
    <ol className={styles.conversation}>
      {messages.slice(0, MESSAGES_MAX).map((message, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: messages have no id, and their order never changes.
        <li key={index} className={joined(styles.bubble, message.role === 'assistant' && styles.assistant)}>
          <span className={styles.role}>{nameControls(message.role)}</span>
          {message.parts.map((part, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same holds for the parts of a message.
            <Fragment key={at}>
              {part.title && <span className={styles.note}>{nameControls(part.title)}</span>}
              {part.kind === 'text' ? (
                <MessageText text={part.text} />
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

function MessageText({ text }: { readonly text: string }) {
  if (text.length > SHORT_CHARACTERS) return <LongText text={text} />;
  return (
    <p className={page.prose} dir="auto">
      {nameControls(text)}
    </p>
  );
}
