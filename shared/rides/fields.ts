import { type JsonSchema, objectSchema, type Shape } from '../base/json-schema.ts';
import { needs as allNeeds, maxPrice } from '../base/terms.ts';
import { maxContacts } from '../messages/message-kinds.ts';

/**
 * The optional fields of a ride's request (contract, section 4.1): one row for each, in the order in which answers and
 * events show them. Types, creation, documentation, answers, events, reads from MongoDB and erasure use this table. A
 * successor (successor.ts) gets all fields. No server imports: browsers use this file too.
 */

/**
 * `creation`: the answer to a creation. `ride`: a ride when it is retrieved or listed. `event`: the body of every event.
 * `request`: a driver who is asked. `ownRide`: the driver who was chosen. `lists`: the dashboard's lists and the desk's
 * board. The page of a ride shows all fields.
 */
type Place = 'creation' | 'ride' | 'event' | 'request' | 'ownRide' | 'lists';

interface Row {
  /** The value in answers and events. The description is for those who see the field; `driver` replaces it for drivers. */
  schema: JsonSchema;
  driver?: string;
  /** The description in the documentation of a creation. */
  request: string;
  in: readonly Place[];
  /** When a partner can change it; never if absent. */
  changes?: 'until the end' | 'while bidding';
  /** Erased with the personal data of the ride. A text of the partner may name a person. */
  isErased: boolean;
  /** Stored as a date, shown as Unix time in milliseconds. */
  isTime?: true;
  /**
   * Pages and forms show the field under this label, as a text or an integer; the desk's form under "More". A field
   * without a label has a place of its own on each page and in each form.
   */
  label?: string;
}

export const fields = {
  pickupAt: {
    schema: {
      type: 'integer',
      description: 'The time of the pickup, as Unix time in milliseconds. Present if you gave one.',
    },
    driver: 'When to be at the pickup, as Unix time in milliseconds. Present on a ride for later.',
    request:
      'The time of the pickup, as Unix time in milliseconds: 15 minutes to 30 days ahead. Default: as soon as possible.',
    in: ['creation', 'ride', 'event', 'request', 'ownRide', 'lists'],
    changes: 'while bidding',
    isErased: false,
    isTime: true,
  },
  onDriverCancel: {
    schema: {
      title: 'OnDriverCancel',
      type: 'string',
      enum: ['rebid'],
      description: 'If the driver cancels, a new ride replaces this one. Present if you asked for it.',
    },
    request: '`rebid`: if the driver cancels, a new ride with the same request replaces this one.',
    in: ['creation', 'ride'],
    isErased: false,
  },
  // Drivers never see the limits.
  autoAccept: {
    schema: objectSchema(
      {
        maxPrice: {
          type: 'number',
          exclusiveMinimum: 0,
          maximum: maxPrice,
          description: 'The highest price to accept, in USD.',
        },
        maxEtaMinutes: {
          type: 'number',
          minimum: 0,
          description: 'The longest time to the pickup, in minutes. Present if you gave it.',
        },
        waitSeconds: {
          type: 'integer',
          minimum: 1,
          maximum: 600,
          description: 'The time to wait for better offers, in seconds. Present if you gave it.',
        },
      },
      {
        description: 'Your limits for automatic acceptance. Present if you gave them.',
        optional: ['maxEtaMinutes', 'waitSeconds'],
      },
    ),
    request: 'An offer within these limits is accepted automatically.',
    in: ['creation', 'ride', 'lists'],
    isErased: false,
  },
  // Erased, because needs may describe a person's health.
  needs: {
    schema: {
      type: 'array',
      items: { title: 'Need', type: 'string', enum: allNeeds },
      description: 'The needs of the ride. Present if you gave any.',
    },
    driver: 'The needs of the ride. Present if it has any; then your equipment includes all of them.',
    request: `What the car and its driver must be able to serve: ${allNeeds.map((need) => `\`${need}\``).join(', ')}. Only such drivers are asked.`,
    in: ['creation', 'ride', 'request', 'ownRide'],
    changes: 'while bidding',
    isErased: true,
  },
  floor: {
    schema: {
      type: 'integer',
      minimum: -10,
      maximum: 200,
      description: 'The floor where the passenger waits. Present if you gave one.',
    },
    driver: 'The floor where the passenger waits. Present if the partner named one.',
    request: 'The floor where the passenger waits, shown to the chosen driver.',
    in: ['creation', 'ride', 'ownRide'],
    changes: 'until the end',
    isErased: true,
    label: 'Floor',
  },
  // The PIN itself is `pinCode` of the ride.
  pin: {
    schema: { type: 'boolean', description: 'The trip starts only with the PIN of the passenger.' },
    driver: 'True if the start of the trip needs the PIN that the passenger tells you. Absent without one.',
    request: 'The driver can start the trip only with a PIN of four digits, which the passenger sees on the live map.',
    in: ['ownRide'],
    isErased: false,
  },
  passenger: {
    schema: objectSchema(
      {
        name: { type: 'string', description: 'Their name.' },
        phone: { type: 'string', description: 'Their phone number, as the partner typed it.' },
        locale: { type: 'string', description: 'The language that they read, as a BCP 47 tag such as `es-MX`.' },
      },
      { description: 'The passenger. Present if the partner named one.', optional: ['name', 'phone', 'locale'] },
    ),
    request: 'The passenger, shown to the chosen driver.',
    in: ['ownRide', 'lists'],
    changes: 'until the end',
    isErased: true,
  },
  notify: {
    schema: objectSchema(
      {
        passenger: { type: 'boolean', description: 'The passenger gets text messages about the ride.' },
        contacts: {
          type: 'array',
          maxItems: maxContacts,
          items: objectSchema(
            {
              name: { type: 'string', description: 'Their name.' },
              phone: { type: 'string', description: 'Their phone number, in E.164 form.' },
              locale: { type: 'string', description: 'The language that they read.' },
            },
            { description: 'A contact of the passenger.', optional: ['name', 'locale'] },
          ),
          description: 'Others who are told that a driver was found, and how the ride ended.',
        },
      },
      { description: 'Who gets text messages.', optional: ['passenger', 'contacts'] },
    ),
    request:
      'Who gets text messages about the ride ([Text messages](https://rides.example/docs/messages)). Default: what the key says, which is nobody at first.',
    in: [],
    isErased: true,
  },
  notes: {
    schema: { type: 'string', description: 'A note from the partner. Present if the partner gave one.' },
    request: 'A note to the driver.',
    in: ['ownRide'],
    changes: 'until the end',
    isErased: true,
  },
  // Never logged, because it may name a person.
  reference: {
    schema: {
      type: 'string',
      maxLength: 64,
      description: 'Your own name for the ride. Present if you gave one.',
      examples: ['booking-70133'],
    },
    request: 'Your own name for the ride, such as a booking number. You can list rides by it; it need not be unique.',
    in: ['creation', 'ride', 'event', 'lists'],
    changes: 'until the end',
    isErased: true,
  },
  metadata: {
    schema: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'Your own entries, sorted by name. Present if you gave any.',
      examples: [{ desk: 'lobby', room: '1204' }],
    },
    request:
      'Your own entries, each a name with a text of at most 100 characters. A name is a letter and up to 39 more letters, digits, underscores and dashes.',
    in: ['creation', 'ride', 'event'],
    changes: 'until the end',
    isErased: true,
  },
  webhookUrl: {
    schema: { type: 'string' },
    request: "The URL for this ride's events, instead of the key's default URL. HTTPS, to a public address.",
    in: [],
    changes: 'until the end',
    isErased: true,
  },
} as const satisfies Record<string, Row>;

type Fields = typeof fields;
export type FieldName = keyof Fields;
export type FieldIn<P extends Place> = {
  [Name in FieldName]: P extends Fields[Name]['in'][number] ? Name : never;
}[FieldName];

type Shown<Name extends FieldName> = Shape<Fields[Name]['schema']>;

/** The fields as they are stored. */
export type GivenFields = {
  [Name in FieldName]?: Fields[Name] extends { isTime: true } ? Date : Shown<Name>;
};

export type ChangeableName = {
  [Name in FieldName]: Fields[Name] extends { changes: string } ? Name : never;
}[FieldName];

export const fieldNames = Object.keys(fields) as FieldName[];

export const rowOf = (name: FieldName): Row => fields[name];

export const erasedFields = fieldNames.filter((name) => rowOf(name).isErased);

export type LabelledName = {
  [Name in FieldName]: Fields[Name] extends { label: string } ? Name : never;
}[FieldName];

export const labelledFields = fieldNames.flatMap((name) => {
  const { label, schema } = rowOf(name);
  return label ? [{ name: name as LabelledName, label, isNumber: schema.type === 'integer' }] : [];
});

/** The names of the fields that appear in a place. Pure, like the functions below. */
export const fieldsIn = <P extends Place>(place: P): FieldIn<P>[] =>
  fieldNames.filter((name) => rowOf(name).in.includes(place)) as FieldIn<P>[];

/** The MongoDB projection of the fields that appear in a place. */
export const projectionOf = <Name extends FieldName>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, 1])) as { [Each in Name]: 1 };

/** The schemas of the fields that appear in a place. */
export function schemasIn<P extends Place>(place: P) {
  const isForDrivers = place === 'request' || place === 'ownRide';
  const schemas = fieldsIn(place).map((name) => {
    const { schema, driver } = rowOf(name);
    return [name, isForDrivers && driver ? { ...schema, description: driver } : schema];
  });
  return Object.fromEntries(schemas) as { [Name in FieldIn<P>]: Fields[Name]['schema'] };
}

/** The fields of a ride with these names, as answers and events show them. Missing fields are left out. */
export function shownFields<Name extends FieldName>(ride: Pick<GivenFields, Name>, names: readonly Name[]) {
  const shown = names.flatMap((name) => {
    const value = ride[name] as unknown;
    return value === undefined ? [] : [[name, value instanceof Date ? value.getTime() : value]];
  });
  return Object.fromEntries(shown) as { [Each in Name]?: Shown<Each> };
}
