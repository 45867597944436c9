import type { CarType } from '../../shared/car-types.ts';
import type { CancelledBy, Location, RideStatus, rideTypes } from '../../shared/rides/ride-types.ts';

/** What drivers are shown. Pure: the driver's page imports this file too. Times are Unix ms. */

type Place = Pick<Location, 'lat' | 'lng'>;

export interface ShownRequest {
  rideId: string;
  fare: number;
  carType: CarType;
  rideType: (typeof rideTypes)[number];
  passengerCount: number;
  pickup: Place;
  destination: Place;
  distanceKm: number;
  pickupKm: number;
  biddingEndsAt: number;
  /** The driver's own live offer. */
  offer?: { offerId: string; price: number; etaMinutes: number };
}

export interface ShownRide {
  rideId: string;
  status: RideStatus;
  statusAt: number;
  fare: number;
  agreedPrice?: number;
  carType: CarType;
  rideType: (typeof rideTypes)[number];
  passengerCount: number;
  distanceKm: number;
  pickup: Location;
  destination: Location;
  passenger?: { name?: string; phone?: string };
  notes?: string;
}

/** How a ride that was opened to a driver went on, as far as it concerns this driver. */
export interface ShownOutcome {
  rideId: string;
  outcome: 'open' | 'chosen' | 'other_driver' | 'completed' | 'cancelled';
  /** Of a cancelled ride that no other driver had. */
  cancelledBy?: CancelledBy;
}
