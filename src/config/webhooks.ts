/** The settings of webhooks: allowed destinations and limits. */

import { type AllowEntry, parseAllowList } from '../domain/endpoints/url-allow-list.ts';
import { type ConfigReader, readHttpUrl, readInteger } from './reader.ts';

export function readWebhooks(reader: ConfigReader) {
  const perHour = 'SPANDREL_WEBHOOK_MAX_PER_HOUR';
  return {
    /** Private destinations that are allowed. */
    allow: readAllowList(reader, 'SPANDREL_WEBHOOK_ALLOW'),
    /** Delivery attempts of this process at once. */
    concurrencyMax: readInteger(reader, 'SPANDREL_WEBHOOK_CONCURRENCY', { min: 1, max: 16_384 }),
    /** Attempts of one organization within a clock hour; null: no limit. */
    attemptsPerHourMax:
      reader.text(perHour) === null ? null : readInteger(reader, perHour, { min: 1, max: 1_000_000_000 }),
    /** Endpoints of one organization. */
    endpointsMax: readInteger(reader, 'SPANDREL_WEBHOOK_MAX_ENDPOINTS', { min: 1, max: 100_000 }),
  };
}

export function readAllowList(reader: ConfigReader, name: string): readonly AllowEntry[] {
  const reading = parseAllowList(reader.text(name) ?? '');
  if (reading.kind === 'entries') return reading.entries;
  reader.refuse(`${name} ${reading.problem}`);
  return [];
}

/** The settings of SQS destinations. The AWS_ variables are the standard ones of AWS tools. */
export function readAws(reader: ConfigReader) {
  return {
    /** Whether the AWS credentials of this process may be used. */
    isAmbientAllowed: reader.text('SPANDREL_ALLOW_AMBIENT_AWS') === '1',
    /** The URLs of the operator's own services; null: Amazon's. */
    sqsEndpoint: readHttpUrl(reader, 'AWS_ENDPOINT_URL_SQS'),
    stsEndpoint: readHttpUrl(reader, 'AWS_ENDPOINT_URL_STS'),
    /** The region of the operator's own services. */
    region: reader.text('AWS_REGION') ?? reader.text('AWS_DEFAULT_REGION') ?? 'us-east-1',
  };
}
