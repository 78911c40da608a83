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

const MAIL_URL = 'SPANDREL_SMTP_URL';
const MAIL_FROM = 'SPANDREL_SMTP_FROM';
/** An address, or a name before one in angle brackets. */
const FROM = /^([^<>"\r\n]{0,128}<)?[^\s@<>,;:"()]+@[^\s@<>,;:"()]+>?$/;

/** The mail server, and the address that mails come from; null: mails are not sent. */
export function readMailServer(reader: ConfigReader): { readonly url: string; readonly from: string } | null {
  const [url, from] = [reader.text(MAIL_URL), reader.text(MAIL_FROM)];
  if (url === null && from === null) return null;
  if (url === null || from === null) {
    reader.refuse(`${MAIL_URL} and ${MAIL_FROM} must be set together`);
    return null;
  }
  const isUrl = URL.canParse(url) && /^smtps?:$/.test(new URL(url).protocol) && new URL(url).hostname !== '';
  if (!isUrl) reader.refuse(`${MAIL_URL} must look like smtp://user:password@host:587 or smtps://host`);
  if (!FROM.test(from)) reader.refuse(`${MAIL_FROM} must be an e-mail address, or a name and an address in <>`);
  return { url, from };
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
