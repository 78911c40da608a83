import type { OpenSubject } from './subject.ts';
import { webhookChangeConformance } from './webhook-changes.ts';
import { webhookEndpointConformance } from './webhook-endpoints.ts';
import { webhookLifeConformance } from './webhook-life.ts';
import { webhookLogConformance } from './webhook-log.ts';
import { webhookReplayConformance } from './webhook-replays.ts';
import { webhookResultConformance } from './webhook-results.ts';
import { webhookWorkConformance } from './webhook-work.ts';

/** All rules of the webhook ports. */
export function webhookConformance(open: OpenSubject): void {
  webhookEndpointConformance(open);
  webhookChangeConformance(open);
  webhookWorkConformance(open);
  webhookResultConformance(open);
  webhookLifeConformance(open);
  webhookReplayConformance(open);
  webhookLogConformance(open);
}
