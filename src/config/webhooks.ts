/** The settings of webhooks: allowed destinations and limits. */

import { type AllowEntry, parseAllowList } from '../domain/endpoints/url-allow-list.ts';
import { type ConfigReader, readHttpUrl, readInteger } from './reader.ts';

export type WebhookSettings = {
  /** Private destinations that are allowed. */
  readonly allow: readonly AllowEntry[];
  /** Delivery attempts of this process at once. */
  readonly concurrencyMax: number;
  /** Attempts of one organization within a clock hour; null: no limit. */
  readonly attemptsPerHourMax: number | null;
  /** Endpoints of one organization. */
  readonly endpointsMax: number;
};

/** The settings of SQS destinations. */
export type AwsSettings = {
  /** Whether the AWS credentials of this process may be used. */
  readonly isAmbientAllowed: boolean;
  /** The URLs of the operator's own services; null: Amazon's. */
  readonly sqsEndpoint: string | null;
  readonly stsEndpoint: string | null;
  /** The region of the operator's own services. */
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

/** The AWS_ variables are the standard ones of AWS tools. */
export function readAws(reader: ConfigReader): AwsSettings {
  return {
    isAmbientAllowed: reader.text('SPANDREL_ALLOW_AMBIENT_AWS') === '1',
    sqsEndpoint: readHttpUrl(reader, 'AWS_ENDPOINT_URL_SQS'),
    stsEndpoint: readHttpUrl(reader, 'AWS_ENDPOINT_URL_STS'),
    region: reader.text('AWS_REGION') ?? reader.text('AWS_DEFAULT_REGION') ?? 'us-east-1',
  };
}
