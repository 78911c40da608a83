/** The log of events, newest first. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi } from '@tanstack/react-router';
import { EndpointService } from '../../../gen/spandrel/v1/endpoints_pb.js';
import { type Event, EventService } from '../../../gen/spandrel/v1/events_pb.js';
import { Answer, currentData } from '../design/answer.tsx';
import { Select } from '../design/form.tsx';
import { formatExactInstant, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Empty, More, Page, Pending } from '../design/page.tsx';
import type { ChangeOf } from '../layout/search.ts';
import { JsonView } from '../trace/json-view.tsx';
import { RangePicker } from '../traces/range-picker.tsx';
import { useRangePages } from '../traces/range-query.ts';
import styles from './events-page.module.css';

const route = getRouteApi('/-/events');
const PAGE_SIZE = 50;
/** The prefix of the event types that are in the log. */
const LOGGED = 'gateway.request.';

export default function EventsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (part: ChangeOf<typeof search>) =>
    void navigate({ search: (now) => ({ ...now, ...part }) as typeof search, replace: true });
  const types = useQuery(EndpointService.method.listEventTypes);
  const logged = types.data?.data.filter(({ eventType }) => eventType.startsWith(LOGGED)) ?? [];
  const { range, from, to, type, event } = search;
  const found = useRangePages({
    method: EventService.method.listEvents,
    range: { range, from, to },
    input: { ...(type && { eventType: type }), pageSize: PAGE_SIZE },
    toRangeInput: ({ fromMs, toMs }) => ({ createdFrom: timestampFromMs(fromMs), createdTo: timestampFromMs(toMs) }),
    nextPageToken: ({ nextPageToken }) => nextPageToken,
  });
  const events = found.data?.pages.flatMap(({ answer }) => answer.data) ?? [];
  return (
    <Page
      title="Events"
      sub="Everything the organization emitted in the last thirteen months. Webhooks deliver the same events."
      actions={
        <div className={page.row}>
          <Select
            aria-label="Type"
            value={type ?? ''}
            options={[['', 'All types'], ...logged.map(({ eventType }) => [eventType, eventType] as const)]}
            onChange={(chosen) => change({ type: chosen || undefined })}
          />
          <RangePicker search={search} onChange={change} />
        </div>
      }
    >
      <Pending found={found} />
      {event !== undefined && currentData(found) && !events.some(({ id }) => id === event) && (
        <Chosen id={event} onClose={() => change({ event: undefined })} />
      )}
      <Answer isOld={found.isPlaceholderData}>
        {currentData(found) && events.length === 0 && (
          <Empty title="No event in this range">Each call of a model that arrives becomes an event.</Empty>
        )}
        {events.length > 0 && (
          <ul className={`${page.card} ${styles.list}`}>
            {events.map((each) => (
              <Item
                key={each.id}
                event={each}
                isOpen={each.id === event}
                onOpen={(isOpen) => change({ event: isOpen ? each.id : undefined })}
              />
            ))}
          </ul>
        )}
        <More found={found} />
      </Answer>
    </Page>
  );
}

type ItemProps = { readonly event: Event; readonly isOpen: boolean; readonly onOpen: (isOpen: boolean) => void };

function Item({ event, isOpen, onOpen }: ItemProps) {
  return (
    <li className={styles.item}>
      <button type="button" className={styles.head} aria-expanded={isOpen} onClick={() => onOpen(!isOpen)}>
        <time dateTime={event.created} title={event.created}>
          {formatExactInstant(event.created)}
        </time>
        <span className={styles.name}>{nameControls(event.eventType)}</span>
        <span className={page.mono}>{nameControls(event.id)}</span>
      </button>
      {isOpen && (
        <div className={styles.body}>
          <JsonView json={envelopeOf(event)} label="the envelope" />
        </div>
      )}
    </li>
  );
}

/** The event of the address, where the list does not show it. */
function Chosen({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const found = useQuery(EventService.method.getEvent, { id });
  const event = found.data?.data;
  if (!event) return <Pending found={found} />;
  return (
    <ul className={`${page.card} ${styles.list}`}>
      <Item event={event} isOpen onOpen={onClose} />
    </ul>
  );
}

/** With its members in the order in which they are pushed. */
function envelopeOf({ id, eventType, created, schemaVersion, dataJson }: Event): string {
  const head = JSON.stringify({ id, type: eventType, created, schema_version: schemaVersion });
  return `${head.slice(0, -1)},"data":${dataJson}}`;
}
