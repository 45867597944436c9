import type { JsonSchema } from '../../shared/base/json-schema.ts';
import { sentEvents } from '../../shared/base/terms.ts';

interface Header {
  required: boolean;
  description: string;
  schema: JsonSchema;
  example: string | number;
}

/** The headers of every delivery (contract, section 6). */
export const eventHeaders = {
  'X-Service-Event': {
    required: true,
    description: 'Name of the event.',
    schema: { title: 'SentEvent', type: 'string', enum: sentEvents },
    example: 'ride.status',
  },
  'X-Service-Signature': {
    required: true,
    description: 'The signature, which proves that we sent the event: `t=UNIX_SECONDS,v1=HEX_HMAC`.',
    schema: { type: 'string', pattern: '^t=[0-9]{1,15},v1=[0-9a-f]{64}$' },
    example: 't=1795269605,v1=0f2b6fd4a1f8f0f1a7c1d4c2c9ab6f0a5d0e9b1ac2cf7f27c6a3d5e8b9f0a1c2',
  },
  'X-Service-Event-Id': {
    required: true,
    description: 'The id of the event; the same if the event is resent.',
    schema: { type: 'string' },
    example: 'evt_0Uw4cA1k9fZ3xQ7LmT2bVn8Y_2',
  },
  'X-Service-Sequence': {
    required: true,
    description: 'Number of the event within its ride, from 1, without gaps. Only `offer.withdrawn` has none.',
    schema: { type: 'integer', minimum: 1 },
    example: 2,
  },
  'X-Service-Test': {
    required: false,
    description: 'Only on a test event that you sent from the dashboard: its ride does not exist.',
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
  'X-Service-Redelivery': {
    required: false,
    description: 'Only on an event that you resent.',
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
} as const satisfies Record<string, Header>;

export type EventHeader = keyof typeof eventHeaders;
