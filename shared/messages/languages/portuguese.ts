import type { Texts } from './english.ts';

/** The text messages in Portuguese, in ICU MessageFormat. */
export const portuguese: Texts = {
  'passenger.booked': 'Sua viagem está reservada: {time}. Avisaremos quando houver um motorista.',
  'passenger.found':
    '{driver} chega para buscar você em cerca de {minutes} min: {vehicle}, placa {plate}. Mapa ao vivo: {link}',
  'passenger.foundLater': 'Embarque: {time}, com {driver}. {vehicle}, placa {plate}. Mapa ao vivo: {link}',
  'passenger.arrived': 'Seu carro chegou: {vehicle}, placa {plate}. {link}',
  'passenger.cancelled': 'Sua viagem foi cancelada.',
  'passenger.replaced': 'Seu motorista cancelou. Estamos procurando outro carro e avisaremos quando o encontrarmos.',
  'contact.found':
    '{driver} chega para buscar {isNamed, select, yes {{passenger}} other {o passageiro}} em cerca de {minutes} min: {vehicle}, placa {plate}. Acompanhe a viagem: {link}',
  'contact.foundLater':
    'Embarque {isNamed, select, yes {de {passenger}} other {do passageiro}}: {time}, com {driver}. {vehicle}, placa {plate}. Acompanhe a viagem: {link}',
  'contact.completed': 'A viagem {isNamed, select, yes {de {passenger}} other {do passageiro}} terminou no destino.',
  'contact.cancelled': 'A viagem {isNamed, select, yes {de {passenger}} other {do passageiro}} foi cancelada.',
  'contact.replaced':
    'O motorista {isNamed, select, yes {de {passenger}} other {do passageiro}} cancelou. Estamos procurando outro carro.',
};
