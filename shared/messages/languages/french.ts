import type { Texts } from './english.ts';

/** The text messages in French, in ICU MessageFormat. */
export const french: Texts = {
  'passenger.booked': "Votre course est réservée : {time}. Nous vous écrirons dès qu'un chauffeur sera trouvé.",
  'passenger.found':
    '{driver} vient vous chercher dans environ {minutes} min : {vehicle}, plaque {plate}. Carte en direct : {link}',
  'passenger.foundLater': 'Prise en charge : {time}, par {driver}. {vehicle}, plaque {plate}. Carte en direct : {link}',
  'passenger.arrived': 'Votre voiture est là : {vehicle}, plaque {plate}. {link}',
  'passenger.cancelled': 'Votre course a été annulée.',
  'passenger.replaced':
    "Votre chauffeur a annulé. Nous cherchons une autre voiture et vous écrirons dès qu'elle sera trouvée.",
  'contact.found':
    '{driver} vient chercher {isNamed, select, yes {{passenger}} other {le passager}} dans environ {minutes} min : {vehicle}, plaque {plate}. Suivre la course : {link}',
  'contact.foundLater':
    'Prise en charge {isNamed, select, yes {pour {passenger}} other {du passager}} : {time}, par {driver}. {vehicle}, plaque {plate}. Suivre la course : {link}',
  'contact.completed':
    "La course {isNamed, select, yes {pour {passenger}} other {du passager}} s'est terminée à destination.",
  'contact.cancelled': 'La course {isNamed, select, yes {pour {passenger}} other {du passager}} a été annulée.',
  'contact.replaced':
    'Le chauffeur de la course {isNamed, select, yes {pour {passenger}} other {du passager}} a annulé. Nous cherchons une autre voiture.',
};
