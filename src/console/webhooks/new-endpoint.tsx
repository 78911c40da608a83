import { useMutation, useQuery } from '@connectrpc/connect-query';
import { useState } from 'react';
import { EndpointService } from '../../../gen/spandrel/v1/endpoints_pb.js';
import { Button, Field } from '../design/button.tsx';
import { Modal } from '../design/confirm.tsx';
import { FailureNotice } from '../design/failure.tsx';
import page from '../design/page.module.css';
import { useRefresh } from '../session/refresh.ts';
import styles from './webhooks.module.css';

type NewEndpointProps = {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onMade: (secret: string) => void;
};

const EVERYTHING = '*';

export function NewEndpoint({ open, onClose, onMade }: NewEndpointProps) {
  return (
    <Modal open={open} onClose={onClose} title="New endpoint">
      <Form onClose={onClose} onMade={onMade} />
    </Modal>
  );
}

function Form({ onClose, onMade }: Omit<NewEndpointProps, 'open'>) {
  const [url, setUrl] = useState('');
  const [description, setDescription] = useState('');
  const [chosen, setChosen] = useState<readonly string[]>([EVERYTHING]);
  const types = useQuery(EndpointService.method.listEventTypes);
  const refresh = useRefresh();
  const create = useMutation(EndpointService.method.createEndpoint, {
    onSuccess({ data }) {
      onMade(data?.secret ?? '');
      void refresh();
    },
  });
  const toggle = (type: string, isOn: boolean) => {
    if (type === EVERYTHING) setChosen(isOn ? [EVERYTHING] : []);
    else
      setChosen(
        isOn ? [...chosen.filter((each) => each !== EVERYTHING), type] : chosen.filter((each) => each !== type),
      );
  };
  const choice = (type: string, label: string) => (
    <label key={type} className={styles.choice}>
      <input type="checkbox" checked={chosen.includes(type)} onChange={(event) => toggle(type, event.target.checked)} />
      <span>{label}</span>
    </label>
  );
  return (
    <form
      className={page.form}
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate({
          destination: { case: 'url', value: url.trim() },
          enabledEvents: [...chosen],
          ...(description.trim() && { description: description.trim() }),
        });
      }}
    >
      <Field label="URL" hint="https, and reachable from the server; it gets batches of events by POST.">
        {(props) => (
          <input
            {...props}
            type="text"
            inputMode="url"
            placeholder="https://example.com/spandrel"
            value={url}
            onChange={(event) => setUrl(event.target.value)}
          />
        )}
      </Field>
      <Field label="Description">
        {(props) => <input {...props} value={description} onChange={(event) => setDescription(event.target.value)} />}
      </Field>
      <fieldset className={styles.choices}>
        <legend>Events</legend>
        {choice(EVERYTHING, 'All, including types that are added later')}
        {types.data?.data.map(({ eventType }) => choice(eventType, eventType))}
      </fieldset>
      {create.isError && <FailureNotice error={create.error} />}
      <div className={page.row}>
        <Button type="submit" variant="primary" disabled={create.isPending || url.trim() === '' || chosen.length === 0}>
          Create the endpoint
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </form>
  );
}
