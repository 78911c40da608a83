/** One trigger: its state, its switch, what it did, and its settings. */

import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import {
  type Trigger,
  TriggerDelivery,
  type TriggerEvent,
  TriggerEventKind,
  TriggerService,
} from '../../../gen/spandrel/v1/triggers_pb.js';
import { Badge, Button, CopyButton } from '../design/button.tsx';
import { DeleteForGood } from '../design/confirm.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { nameControls } from '../design/format.ts';
import { DetailPage } from '../design/frame.tsx';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Back, Pending } from '../design/page.tsx';
import { Table } from '../design/table.tsx';
import { useChange } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';
import { Section } from '../trace/section.tsx';
import { describeConditions, readConditions } from './conditions.ts';
import { toDraft, toTriggerChange } from './draft.ts';
import { conditionOf, shownStatus } from './trigger-enums.ts';
import { TriggerForm } from './trigger-form.tsx';
import { StatusBadge } from './trigger-list-page.tsx';

const route = getRouteApi('/$slug/triggers/$triggerId');

/** The target of a trigger's platformUrl. */
export default function TriggerPage() {
  const { slug, triggerId } = route.useParams();
  const { may } = useSession();
  const found = useQuery(TriggerService.method.getTrigger, { id: triggerId });
  return (
    <DetailPage
      back={<Back to="/$slug/triggers" params={{ slug }} label="Triggers" />}
      found={found}
      item={found.data?.trigger}
      show={(trigger) => ({
        title: nameControls(trigger.name ?? trigger.id),
        sub: conditionOf(trigger) ?? <Watched slug={slug} trigger={trigger} />,
        actions: (
          <div className={page.row}>
            <StatusBadge trigger={trigger} />
            <CopyButton text={trigger.id}>Copy id</CopyButton>
            {may('triggers:update') && <Switch trigger={trigger} />}
          </div>
        ),
        children: (
          <>
            {trigger.state?.reason && <p role="status">{nameControls(trigger.state.reason)}</p>}
            <History slug={slug} id={trigger.id} />
            {may('triggers:update') && <Change key={trigger.id} trigger={trigger} />}
            {may('triggers:manage') && <Removal slug={slug} trigger={trigger} />}
          </>
        ),
      })}
    />
  );
}

/** Leads to the traces that match, if the list of traces can show them. */
function Watched({ slug, trigger }: { readonly slug: string; readonly trigger: Trigger }) {
  const conditions = readConditions(trigger);
  const text = nameControls(describeConditions(conditions));
  if (conditions.kept.length > 0) return text;
  return (
    <Link to="/$slug/traces" params={{ slug }} search={{ q: conditions.line }}>
      {text}
    </Link>
  );
}

const PAGE_SIZE = 50;
const KINDS: { readonly [K in TriggerEventKind]: string } = {
  [TriggerEventKind.UNSPECIFIED]: '',
  [TriggerEventKind.FIRED]: 'fired',
  [TriggerEventKind.RESOLVED]: 'resolved',
  [TriggerEventKind.CHANGED]: 'state',
};
const DELIVERIES = {
  [TriggerDelivery.UNSPECIFIED]: { text: '', tone: 'quiet' },
  [TriggerDelivery.NONE]: { text: 'not announced', tone: 'quiet' },
  [TriggerDelivery.PENDING]: { text: 'waits', tone: 'warn' },
  [TriggerDelivery.SENT]: { text: 'sent', tone: 'good' },
  [TriggerDelivery.FAILED]: { text: 'failed', tone: 'bad' },
} as const;

function History({ slug, id }: { readonly slug: string; readonly id: string }) {
  const found = useQuery(TriggerService.method.listTriggerHistory, { id, pageSize: PAGE_SIZE });
  const events = found.data?.data ?? [];
  return (
    <Section title="What it did">
      <Pending found={found} />
      {found.data && events.length === 0 && <p className={page.soft}>Nothing yet.</p>}
      {events.length > 0 && (
        <Table columns={['When', 'What', 'State', { number: 'Value' }, 'Traces', 'Notification']}>
          {events.map((event) => (
            <Entry key={event.id} slug={slug} event={event} />
          ))}
        </Table>
      )}
    </Section>
  );
}

function Entry({ slug, event }: { readonly slug: string; readonly event: TriggerEvent }) {
  const { text, tone } = DELIVERIES[event.delivery];
  const [first] = event.traceIds;
  return (
    <tr>
      <td>
        <Instant at={event.createdAt} as="short" />
      </td>
      <td>{KINDS[event.kind]}</td>
      <td>{event.traceCount > 0 ? '' : shownStatus(event.status).text}</td>
      <td className={page.number}>
        {event.value === undefined ? '' : Number(event.value.toPrecision(6))}
        {event.group !== undefined && <span className={page.soft}> {nameControls(event.group)}</span>}
      </td>
      <td>
        {first !== undefined && (
          <Link to="/$slug/traces/$traceId" params={{ slug, traceId: first }}>
            {event.traceCount === 1 ? 'trace' : `${event.traceCount} traces`}
          </Link>
        )}
      </td>
      <td>
        <Badge tone={tone}>{text}</Badge> {event.error !== undefined && nameControls(event.error)}
        {event.reason !== undefined && nameControls(event.reason)}
      </td>
    </tr>
  );
}

function Switch({ trigger: { id, active } }: { readonly trigger: Trigger }) {
  const update = useChange(TriggerService.method.updateTrigger);
  const change = () => update.mutate({ id, trigger: { active: !active }, updateMask: { paths: ['active'] } });
  return (
    <>
      <Button small disabled={update.isPending} onClick={change}>
        {active ? 'Pause' : 'Resume'}
      </Button>
      {update.isError && <FailureNotice error={update.error} />}
    </>
  );
}

function Change({ trigger }: { readonly trigger: Trigger }) {
  const update = useChange(TriggerService.method.updateTrigger);
  const [stored, setStored] = useState(() => toDraft(trigger));
  return (
    <>
      <TriggerForm
        start={stored}
        isNew={false}
        action="Save"
        call={update}
        onSubmit={(draft) =>
          update.mutate({ id: trigger.id, ...toTriggerChange(draft, stored) }, { onSuccess: () => setStored(draft) })
        }
      />
      <p role="status">{update.isSuccess && 'Saved.'}</p>
    </>
  );
}

function Removal({ slug, trigger }: { readonly slug: string; readonly trigger: Trigger }) {
  const navigate = useNavigate();
  return (
    <div>
      <DeleteForGood
        label="Delete the trigger"
        name={trigger.name ?? trigger.id}
        method={TriggerService.method.deleteTrigger}
        input={{ id: trigger.id }}
        onDone={() => navigate({ to: '/$slug/triggers', params: { slug } })}
      >
        Notifications that wait are dropped. This cannot be undone. To stop it for a while, pause it instead.
      </DeleteForGood>
    </div>
  );
}
