import type { Texts } from './english.ts';

/** The text messages in German, in ICU MessageFormat. */
export const german: Texts = {
  'passenger.booked': 'Ihre Fahrt ist gebucht: {time}. Wir schreiben Ihnen, sobald ein Fahrer gefunden ist.',
  'passenger.found': '{driver} holt Sie in etwa {minutes} Min. ab: {vehicle}, Kennzeichen {plate}. Live-Karte: {link}',
  'passenger.foundLater': 'Abholung: {time}, durch {driver}. {vehicle}, Kennzeichen {plate}. Live-Karte: {link}',
  'passenger.arrived': 'Ihr Auto ist da: {vehicle}, Kennzeichen {plate}. {link}',
  'passenger.cancelled': 'Ihre Fahrt wurde storniert.',
  'passenger.replaced':
    'Ihr Fahrer hat abgesagt. Wir suchen ein anderes Auto und schreiben Ihnen, sobald es gefunden ist.',
  'contact.found':
    '{driver} holt {isNamed, select, yes {{passenger}} other {den Fahrgast}} in etwa {minutes} Min. ab: {vehicle}, Kennzeichen {plate}. Fahrt verfolgen: {link}',
  'contact.foundLater':
    'Abholung {isNamed, select, yes {von {passenger}} other {des Fahrgasts}}: {time}, durch {driver}. {vehicle}, Kennzeichen {plate}. Fahrt verfolgen: {link}',
  'contact.completed':
    'Die Fahrt {isNamed, select, yes {von {passenger}} other {des Fahrgasts}} hat ihr Ziel erreicht.',
  'contact.cancelled': 'Die Fahrt {isNamed, select, yes {von {passenger}} other {des Fahrgasts}} wurde storniert.',
  'contact.replaced':
    'Der Fahrer {isNamed, select, yes {von {passenger}} other {des Fahrgasts}} hat abgesagt. Wir suchen ein anderes Auto.',
};
