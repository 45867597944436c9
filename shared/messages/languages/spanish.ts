import type { Texts } from './english.ts';

/** The text messages in Spanish, in ICU MessageFormat. */
export const spanish: Texts = {
  'passenger.booked': 'Su viaje está reservado: {time}. Le avisaremos cuando haya un conductor.',
  'passenger.found':
    '{driver} le recoge en {minutes, plural, one {# min} other {unos # min}}: {vehicle}, matrícula {plate}. Mapa en vivo: {link}',
  'passenger.foundLater': 'Recogida: {time}, con {driver}. {vehicle}, matrícula {plate}. Mapa en vivo: {link}',
  'passenger.arrived': 'Su vehículo ha llegado: {vehicle}, matrícula {plate}. {link}',
  'passenger.cancelled': 'Su viaje ha sido cancelado.',
  'passenger.replaced': 'Su conductor ha cancelado. Buscamos otro vehículo y le avisaremos cuando lo encontremos.',
  'contact.found':
    '{driver} recoge {isNamed, select, yes {a {passenger}} other {al pasajero}} en {minutes, plural, one {# min} other {unos # min}}: {vehicle}, matrícula {plate}. Siga el viaje: {link}',
  'contact.foundLater':
    'Recogida {isNamed, select, yes {de {passenger}} other {del pasajero}}: {time}, con {driver}. {vehicle}, matrícula {plate}. Siga el viaje: {link}',
  'contact.completed':
    'El viaje {isNamed, select, yes {de {passenger}} other {del pasajero}} ha terminado en su destino.',
  'contact.cancelled': 'El viaje {isNamed, select, yes {de {passenger}} other {del pasajero}} ha sido cancelado.',
  'contact.replaced':
    'El conductor {isNamed, select, yes {de {passenger}} other {del pasajero}} ha cancelado. Buscamos otro vehículo.',
};
