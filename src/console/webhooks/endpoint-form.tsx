/** The form of an endpoint: where it is, what it is for, and which events it gets. */

import { useQuery } from '@connectrpc/connect-query';
import { useState } from 'react';
import { EndpointService } from '../../../gen/spandrel/v1/endpoints_pb.js';
import { type Call, Check, Form, TextField, useDraft } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';

export type EndpointDraft = {
  /** Null for a queue, whose address the form does not show. */
  readonly url: string | null;
  readonly description: string;
  /** Selectors of events. */
  readonly events: readonly string[];
};

export const EVERYTHING = '*';

type EndpointFormProps = {
  readonly start: EndpointDraft;
  readonly action: string;
  readonly call: Call;
  readonly onSubmit: (draft: EndpointDraft) => void;
  readonly onCancel: () => void;
};

export function EndpointForm({ start, action, call, onSubmit, onCancel }: EndpointFormProps) {
  const [{ url, description, events }, change] = useDraft(start);
  return (
    <Form
      action={action}
      disabled={call.isPending || url?.trim() === '' || events.length === 0}
      error={call.error}
      onSubmit={() => onSubmit({ url: url?.trim() ?? null, description: description.trim(), events })}
      onCancel={onCancel}
    >
      {url !== null && (
        <TextField
          label="URL"
          field="url"
          hint="An https address the server can reach. Events arrive in batches, by POST."
          type="text"
          inputMode="url"
          placeholder="https://example.com/spandrel"
          value={url}
          onChange={(text) => change({ url: text })}
        />
      )}
      <TextField label="Description" value={description} onChange={(text) => change({ description: text })} />
      <EventChoice chosen={events} onChange={(chosen) => change({ events: chosen })} />
    </Form>
  );
}

type EventChoiceProps = { readonly chosen: readonly string[]; readonly onChange: (chosen: readonly string[]) => void };

function EventChoice({ chosen, onChange }: EventChoiceProps) {
  const types = useQuery(EndpointService.method.listEventTypes);
  // An endpoint may have selectors of families, which the list of types does not have.
  const [before] = useState(chosen);
  const names = new Set([...(types.data?.data.map(({ eventType }) => eventType) ?? []), ...before]);
  names.delete(EVERYTHING);
  const toggle = (type: string, isOn: boolean) => {
    const others = chosen.filter((each) => each !== type && each !== EVERYTHING);
    if (type === EVERYTHING) onChange(isOn ? [EVERYTHING] : []);
    else onChange(isOn ? [...others, type] : others);
  };
  const choice = (type: string, label: string) => (
    <Check key={type} checked={chosen.includes(type)} onChange={(isOn) => toggle(type, isOn)}>
      {label}
    </Check>
  );
  return (
    <fieldset className={page.group}>
      <legend>Events</legend>
      {choice(EVERYTHING, 'All, including types that are added later')}
      {[...names].map((type) => choice(type, nameControls(type)))}
    </fieldset>
  );
}
