-- scale is the delay.Scale of the grid on which cdf is, in seconds. Forecasts from before this column have 30.
ALTER TABLE forecasts ADD COLUMN scale INTEGER NOT NULL DEFAULT 30;
