import { longestComment } from '../../shared/base/terms.ts';
import type { TrackState } from './track-state.ts';
import { asksForRating, type MapLanguage } from './track-words.ts';

const starShape = 'M12 2.500l2.900 6.200 6.700.8-5 4.700 1.300 6.800L12 17.600 6.100 21l1.300-6.800-5-4.700 6.700-.8z';

interface RatingFormProps {
  path: string;
  state: TrackState;
  language: MapLanguage;
}

/** The question how the ride was, or thanks for the answer. The form works without scripts. */
export function RatingForm({ path, state, language: { text } }: RatingFormProps) {
  return (
    <>
      {state.isRated && (
        <p class="rated">
          <strong>{text('page.rated')}</strong>
        </p>
      )}
      <form class="rate" id="rate" method="post" action={path} hidden={!asksForRating(state, state.now)}>
        <fieldset>
          <legend id="rate-question">{text('page.rate')}</legend>
          <div class="stars">
            {[1, 2, 3, 4, 5].map((stars) => (
              <label key={stars}>
                <input type="radio" name="stars" value={stars} required aria-label={text('page.stars', { stars })} />
                <svg viewBox="0 0 24 24" aria-hidden="true">
                  {stars === 1 ? <path id="star" d={starShape} /> : <use href="#star" />}
                </svg>
              </label>
            ))}
          </div>
        </fieldset>
        {/* The stylesheet shows it once stars are chosen. */}
        <div class="field comment">
          <label for="comment">
            {text('page.comment')} <span class="quiet">{text('page.optional')}</span>
          </label>
          <textarea id="comment" name="comment" rows={2} maxLength={longestComment} aria-describedby="comment-hint" />
          <p class="hint" id="comment-hint">
            {text('page.commentHint')}
          </p>
          <button type="submit" class="btn">
            {text('page.send')}
          </button>
        </div>
      </form>
    </>
  );
}
