/** The settings of webhooks: where they may go, and how many of them at once. */

import { type ConfigReader, readHttpUrl, readInteger } from './config-reader.ts';
import { type AllowEntry, parseAllowList } from './domain/url-allow-list.ts';

export type WebhookSettings = {
  /** What may be reached although it is not public. */
  readonly allow: readonly AllowEntry[];
  /** Attempts of this process at once. */
  readonly concurrencyMax: number;
  /** Of one organization within a clock hour; null: as many as it takes. */
  readonly attemptsPerHourMax: number | null;
  /** Of one organization. */
  readonly endpointsMax: number;
};

/** The queues that webhooks are sent to. */
export type AwsSettings = {
  /** Whether the credentials of this process may be used. */
  readonly isAmbientAllowed: boolean;
  /** The operator's own services; null: Amazon's. */
  readonly sqsEndpoint: string | null;
  readonly stsEndpoint: string | null;
  /** Of the operator's own services. */
  readonly region: string;
};

export function readWebhooks(reader: ConfigReader): WebhookSettings {
  const perHour = 'SPANDREL_WEBHOOK_MAX_PER_HOUR';
  return {
    allow: readAllowList(reader),
    concurrencyMax: readInteger(reader, 'SPANDREL_WEBHOOK_CONCURRENCY', { min: 1, max: 16_384 }),
    attemptsPerHourMax:
      reader.text(perHour) === null ? null : readInteger(reader, perHour, { min: 1, max: 1_000_000_000 }),
    endpointsMax: readInteger(reader, 'SPANDREL_WEBHOOK_MAX_ENDPOINTS', { min: 1, max: 100_000 }),
  };
}

function readAllowList(reader: ConfigReader): WebhookSettings['allow'] {
  const name = 'SPANDREL_WEBHOOK_ALLOW';
  const reading = parseAllowList(reader.text(name) ?? '');
  if (reading.kind === 'entries') return reading.entries;
  reader.refuse(`${name} ${reading.problem}`);
  return [];
}

/** The last four are what every tool for AWS reads. */
export function readAws(reader: ConfigReader): AwsSettings {
  return {
    isAmbientAllowed: reader.text('SPANDREL_ALLOW_AMBIENT_AWS') === '1',
    sqsEndpoint: readHttpUrl(reader, 'AWS_ENDPOINT_URL_SQS'),
    stsEndpoint: readHttpUrl(reader, 'AWS_ENDPOINT_URL_STS'),
    region: reader.text('AWS_REGION') ?? reader.text('AWS_DEFAULT_REGION') ?? 'us-east-1',
  };
}
