import { testSentForms } from './sent-forms.ts';

describe('a repeated form of a ride, the desk or the console', () => testSentForms('rides'));
