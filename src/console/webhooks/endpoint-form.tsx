/** The form of an endpoint: where it is, what it is for, and which events it gets. */

import { useQuery } from '@connectrpc/connect-query';
import { useState } from 'react';
import { EndpointService } from '../../../gen/spandrel/v1/endpoints_pb.js';
import { Button, Field } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import styles from './webhooks.module.css';

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
  readonly pending: boolean;
  readonly error: unknown;
  readonly onSubmit: (draft: EndpointDraft) => void;
  readonly onCancel: () => void;
};

export function EndpointForm({ start, action, pending, error, onSubmit, onCancel }: EndpointFormProps) {
  const [draft, setDraft] = useState(start);
  const { url, description, events } = draft;
  const change = (part: Partial<EndpointDraft>) => setDraft({ ...draft, ...part });
  return (
    <form
      className={page.form}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit({ url: url?.trim() ?? null, description: description.trim(), events });
      }}
    >
      {url !== null && (
        <Field label="URL" hint="https, and reachable from the server; it gets batches of events by POST.">
          {(props) => (
            <input
              {...props}
              type="text"
              inputMode="url"
              placeholder="https://example.com/spandrel"
              value={url}
              onChange={({ target }) => change({ url: target.value })}
            />
          )}
        </Field>
      )}
      <Field label="Description">
        {(props) => (
          <input {...props} value={description} onChange={({ target }) => change({ description: target.value })} />
        )}
      </Field>
      <EventChoice chosen={events} onChange={(chosen) => change({ events: chosen })} />
      {error != null && <FailureNotice error={error} />}
      <div className={page.row}>
        <Button type="submit" variant="primary" disabled={pending || url?.trim() === '' || events.length === 0}>
          {action}
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </form>
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
    <label key={type} className={styles.choice}>
      <input type="checkbox" checked={chosen.includes(type)} onChange={(event) => toggle(type, event.target.checked)} />
      <span>{label}</span>
    </label>
  );
  return (
    <fieldset className={styles.choices}>
      <legend>Events</legend>
      {choice(EVERYTHING, 'All, including types that are added later')}
      {[...names].map((type) => choice(type, nameControls(type)))}
    </fieldset>
  );
}
