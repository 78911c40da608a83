/** A value the way its type says: a conversation, text, or JSON. */

import type { TypedValue } from '../../../gen/spandrel/v1/traces_pb.js';
import { Conversation } from './conversation.tsx';
import { JsonView } from './json-view.tsx';
import { LongText } from './long-text.tsx';
import { readMessages } from './messages.ts';

export function ValueView({ value, label }: { readonly value: TypedValue; readonly label: string }) {
  if (value.type === 'chat_messages') {
    const messages = readMessages(value.valueJson);
    if (messages !== null) return <Conversation messages={messages} />;
  }
  if (value.valueJson.startsWith('"')) return <LongText text={String(JSON.parse(value.valueJson))} />;
  return <JsonView json={value.valueJson} label={label} />;
}
