-- Question: to whom might the reader give alerts? Of each alert, alert_people says whether it is for them.
-- Parameters: none.
SELECT account, name FROM drover.colleagues()
