/** The text messages in English, in ICU MessageFormat. */
export const english = {
  'passenger.booked': 'Your ride is booked for {time}. You will get a text when a driver is found.',
  'passenger.found': '{driver} picks you up in about {minutes} min: {vehicle}, plate {plate}. Live map: {link}',
  'passenger.foundLater': 'Your driver for {time} is {driver}: {vehicle}, plate {plate}. Live map: {link}',
  'passenger.arrived': 'Your car is here: {vehicle}, plate {plate}. {link}',
  'passenger.cancelled': 'Your ride was cancelled.',
  'passenger.replaced': 'Your driver cancelled. We are looking for another car and will text you when it is found.',
  'contact.found':
    '{driver} picks {isNamed, select, yes {{passenger}} other {the passenger}} up in about {minutes} min: {vehicle}, plate {plate}. Follow the ride: {link}',
  'contact.foundLater':
    'The driver of {isNamed, select, yes {{passenger}} other {the passenger}} for {time} is {driver}: {vehicle}, plate {plate}. Follow the ride: {link}',
  'contact.completed':
    'The ride of {isNamed, select, yes {{passenger}} other {the passenger}} has ended at its destination.',
  'contact.cancelled': 'The ride of {isNamed, select, yes {{passenger}} other {the passenger}} was cancelled.',
  'contact.replaced':
    'The driver of {isNamed, select, yes {{passenger}} other {the passenger}} cancelled. We are looking for another car.',
} as const;

/** A text for each key. The English ones say which placeholders a text has. */
export type Texts = Readonly<Record<keyof typeof english, string>>;
